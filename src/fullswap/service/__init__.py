"""A durable HTTP service over many streams: one process, one folder."""

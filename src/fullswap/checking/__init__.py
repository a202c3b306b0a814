"""Is this forecaster calibrated? One answer for a log, and a watch over a stream."""

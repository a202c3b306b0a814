"""The paper beside what was measured: one section a part of the study, one page of them all."""

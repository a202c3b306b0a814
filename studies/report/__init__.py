"""From a summary to the page: numbers and tables for its placeholders, and pictures.

A module for each part of the study: ``values`` gives the texts that stand for the placeholders of
its section, ``pictures`` the functions that draw its figures. The prose is ``pages/measured.md``.
"""

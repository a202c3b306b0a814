"""What every other room stands on: array types, checks of arguments, records, the progress bar."""

"""What every other room stands on: array types, checks of arguments, the progress bar."""

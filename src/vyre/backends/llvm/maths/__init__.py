"""Vector mathematics: functions written as arithmetic on lanes, and their error bounds."""

"""What a program got from its calls, remembered so that a wrong guess about it can be answered with what it is.

Data: `remembered` (values and the calls they came from) is filled while the program runs and costs it about a
microsecond a call; values stay plain `dict`, `list` and `str`. Everything else runs once, after the program:
`program` (its syntax tree) → `reading` (expressions to values and places, running nothing of the program's) →
`errors` (a note for the exception that ended it) and `misses` (notes for `.get` calls that found nothing), both in
the words of `outline` (the shape of a value, as bounded data).
"""

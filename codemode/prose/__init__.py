"""Every sentence that the model may read: the two tool definitions, search answers and run answers.

Enters: values of the catalog, the gate, discovery and runs. Leaves: text inside a budget of estimated tokens. Equal
values give equal text. Text of a server or of a program stands only where a reader takes it for data.
"""

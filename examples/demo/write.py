# One write, and its arguments fit. In a session that has not been shown `add_comment` nothing runs: the refusal brings
# the signature, and the same program passes the second time. Policy may then still want to ask somebody.
tools.helpdesk.add_comment(
    ticket_id="T-10640",
    body="Called back: the sync is being moved to its own queue tonight.",
    is_internal=True,
    then={"status": "pending", "add_tags": ["called-back"]},
)

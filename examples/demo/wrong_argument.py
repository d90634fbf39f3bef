# A call with a wrong argument: the parameter is called `ticket_id`. The call is refused before it is sent, and the
# refusal brings the signature.
tools.helpdesk.get_ticket(id="T-10640")

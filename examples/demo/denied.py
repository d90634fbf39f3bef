# A call that a rule should deny: cancelling an invoice cannot be undone. With a rule that denies `ledger.void_invoice`
# it never reaches the server, whether or not the function was shown before.
tools.ledger.void_invoice(invoice_id="INV-00271", reason="The customer asked for it in a ticket")

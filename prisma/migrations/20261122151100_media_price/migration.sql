-- What makes images or sounds uses no tokens, so a price by the token would give it away (money §1.2).
ALTER TABLE control.products ADD CONSTRAINT media_are_priced_by_request CHECK (kind = 'chat' OR unit = 'request');

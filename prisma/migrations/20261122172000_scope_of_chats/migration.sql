-- Idempotency keys of sandbox products that were called as models have the scope of all chats from now on (rules §5.1).
-- One that names a chat with a product there already stays where it is: a repeat of it is a new call, as it was.
UPDATE money.idempotency_keys k SET scope = 'chat'
  FROM money.executions e
 WHERE e.id = k.invocation AND e.surface = 'chat' AND k.scope = e.sandbox
   AND NOT EXISTS (SELECT FROM money.idempotency_keys c
                    WHERE c.project = k.project AND c.scope = 'chat' AND c.key = k.key)
   AND NOT EXISTS (SELECT FROM money.idempotency_keys o JOIN money.executions f ON f.id = o.invocation
                    WHERE o.project = k.project AND o.key = k.key AND o.scope > k.scope AND f.surface = 'chat');

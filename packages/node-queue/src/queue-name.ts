/** Every key is `{svc}:nodes:…`. The braces keep them on one node of a Redis Cluster. */
export const queueName = 'nodes'
export const defaultPrefix = '{svc}'

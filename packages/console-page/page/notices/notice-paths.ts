export const THRESHOLDS = '/api/v2/tenants/{tenant}/projects/{project}/notices/thresholds'
export const WEBHOOKS = '/api/v2/tenants/{tenant}/projects/{project}/webhooks'

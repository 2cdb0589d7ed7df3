const PROJECT = '/api/v2/tenants/{tenant}/projects/{project}'
export const NOTICES = `${PROJECT}/notices` as const
export const THRESHOLDS = `${PROJECT}/notices/thresholds` as const
export const WEBHOOKS = `${PROJECT}/webhooks` as const
export const WEBHOOK = `${PROJECT}/webhooks/{webhook}` as const

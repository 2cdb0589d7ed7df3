// API paths that a funding or correction uses or invalidates.

const PROJECT = '/api/v2/tenants/{tenant}/projects/{project}'
export const WALLET = `${PROJECT}/wallet` as const
export const FUNDINGS = `${PROJECT}/fundings` as const
export const JOURNAL = `${PROJECT}/journal` as const
export const FUND = `${PROJECT}/wallet/fundings` as const
export const CORRECT = `${PROJECT}/wallet/corrections` as const

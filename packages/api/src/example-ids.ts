// Ids in the examples of the description, each under one name. None looks like a real id, so an example never reveals
// an owner. Callers replace them with their own.

/** Ids as examples write them. */
export const exampleIds = {
  tenant: 'ten_example',
  team: 'tea_example',
  budget: 'bud_example',
  user: 'usr_example',
  project: 'prj_example',
  key: 'key_example',
  invocation: 'inv_example',
  notice: 'ntc_example',
  webhook: 'whk_example',
  sandbox: 'sbx-example',
  execution: 'exe_example',
  asset: 'ast_example',
  token: 'tok_example',
  session: 'ses_example',
  invitation: 'ivt_example',
  accessToken: 'atk_example',
  product: 'acme/swift',
  embeddingProduct: 'acme/embed',
  newProduct: 'acme/swift-2',
  /** A revision number. */
  number: '1',
} as const

/** Other values that depend on the caller or on the time of the call. */
export const exampleValues = {
  email: 'ada@example.com',
  newEmail: 'grace@example.com',
  password: 'correct horse battery staple',
  newPassword: 'a longer sentence than before',
  idempotencyKey: 'summary-2026-11-23',
  fundingId: 'invoice-1042',
  correctionId: 'incident-7',
  signInCode: 'SplxlOBeZQQYbYS6WxSbIAn9sT2mJ0cRkf7vQ4yXwE8',
  secondFactorCode: '492039',
  month: '2026-11',
  from: '2026-11-01T00:00:00Z',
  to: '2026-12-01T00:00:00Z',
} as const

// What examples of the description name, under one name for each. Nothing here looks like a real one: an example never says whose
// it was, and anyone who executes one puts theirs in place of it.

/** Ids as examples spell them. */
export const exampleIds = {
  tenant: 'ten_example',
  team: 'tea_example',
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
  accessToken: 'atk_example',
  product: 'acme/swift',
  newProduct: 'acme/swift-2',
  /** Of a revision. */
  number: '1',
} as const

/** What else is of anyone who executes an example, or of the moment in which they do. */
export const exampleValues = {
  email: 'ada@example.com',
  newEmail: 'grace@example.com',
  password: 'correct horse battery staple',
  newPassword: 'a longer sentence than before',
  idempotencyKey: 'summary-2026-11-23',
  fundingId: 'invoice-1042',
  correctionId: 'incident-7',
  signInCode: 'SplxlOBeZQQYbYS6WxSbIAn9sT2mJ0cRkf7vQ4yXwE8',
  month: '2026-11',
  from: '2026-11-01T00:00:00Z',
  to: '2026-12-01T00:00:00Z',
} as const

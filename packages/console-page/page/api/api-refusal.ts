/** What is not done, and what would clear it, in the words of the service. */
export class ApiRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly resolution: string
  readonly param: string | null
  readonly requestId: string | null

  constructor(
    status: number,
    body: { code: string; message: string; resolution: string; param?: string | null },
    requestId: string | null = null,
  ) {
    super(body.message)
    this.status = status
    this.code = body.code
    this.resolution = body.resolution
    this.param = body.param ?? null
    this.requestId = requestId
  }
}

/** Whether nobody is signed in, or no longer. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiRefusal && error.code === 'session_missing'
}

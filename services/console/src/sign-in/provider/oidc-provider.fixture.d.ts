// Types for the part of the library that the tests use; it ships none.
declare module 'oidc-provider' {
  import type { RequestListener, IncomingMessage, ServerResponse } from 'node:http'

  export interface Context {
    body: unknown
    oidc?: { route?: string; client?: { clientId: string }; session?: { accountId?: string } }
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    Grant: new (of: { clientId: string; accountId: string }) => {
      addOIDCScope(scope: string): void
      save(): Promise<string>
    }
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    interactionFinished(req: IncomingMessage, res: ServerResponse, result: object): Promise<void>
    callback(): RequestListener
  }
}

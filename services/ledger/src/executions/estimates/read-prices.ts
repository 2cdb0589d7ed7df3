import type { EstimateFacts } from '@gateway/contracts/estimate'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'

interface Asked {
  products: readonly string[]
  sandbox: string
  digest: string
}

/** What bounds the calls of these products now, and what the newest executions of the sandbox product were charged. */
export async function readPrices(
  { sql }: Pick<Database, 'sql'>,
  { products, sandbox, digest }: Asked,
): Promise<Pick<EstimateFacts, 'products' | 'last'>> {
  const row = await callFunction(sql, 'money.read_estimate', {
    of_products: products,
    of_sandbox: sandbox,
    of_digest: digest,
  })
  return {
    products: JSON.parse(row.products) as EstimateFacts['products'],
    last: JSON.parse(row.last) as EstimateFacts['last'],
  }
}

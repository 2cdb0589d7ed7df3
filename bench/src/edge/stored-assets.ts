import { flowLimits } from '@gateway/api/limits'
import { quotas } from '@gateway/api/quotas'
import type { BenchDeps } from '../bench.ts'
import type { Target } from '../report/targets.ts'
import type { Edge } from './edge.ts'

const OFFERED = 10_000_000_000
const AT_ONCE = 4

/** Uploads of 10 GB by a project with money and by one without. */
export async function storedAssets({ stack, fixture, tenant }: Edge, deps: BenchDeps) {
  const { log } = deps
  const body = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(flowLimits.assetBytes - 8)])
  const uploads = Math.ceil(OFFERED / body.length)
  const upload = async (secret: string) => {
    const ended = new Map<string, number>()
    let left = uploads
    const one = async () => {
      while (left-- > 0) {
        const answer = await fetch(`${stack.gateways[0]!.url}/v1/assets`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'image/png' },
          body,
        }).catch(() => null)
        const said = (await answer?.json().catch(() => null)) as { error?: { code: string } } | null
        // An upload that is refused unread may lose its answer with its connection.
        const how = answer === null ? 'cut' : (said?.error?.code ?? String(answer.status))
        ended.set(how, (ended.get(how) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, one))
    return [...ended].map(([how, count]) => `${count} × ${how}`).join(', ')
  }
  const storedBy = async (project: string) => {
    const { rows } = await fixture.run('SELECT bytes FROM money.asset_usage WHERE project = $1', [project])
    return Number(rows[0]?.bytes ?? 0)
  }

  const poor = await fixture.callableTenant({ funds: 0n })
  log(`${uploads} uploads of ${body.length} bytes without funds`)
  const ofPoor = await upload(poor.key.secret)
  log('The same with funds')
  const ofRich = await upload(tenant.key.secret)
  const [storedPoor, storedRich] = [await storedBy(poor.project.id), await storedBy(tenant.project.id)]
  const gigabytes = (value: number) => `${(value / 1e9).toFixed(2)} GB`
  return {
    said: `
10 GB of uploads: without funds ${gigabytes(storedPoor)} were stored (${ofPoor}), with funds ${gigabytes(storedRich)} (${ofRich}).`,
    targets: [
      { what: 'stored without funds', wanted: 0, found: storedPoor, better: 'less', say: gigabytes },
      {
        what: 'stored with funds',
        wanted: quotas.assetBytes.default,
        found: storedRich,
        better: 'less',
        say: gigabytes,
      },
    ] satisfies Target[],
  }
}

import { expect, test } from 'vitest'
import { problemsOf } from './kubernetes-schema.ts'
import { canRender, componentNames, type Manifest, renderProductionWith } from './render.ts'

const possible = await canRender()

test.skipIf(!possible)('the production overlay renders with every combination of components', async () => {
  const names = await componentNames()
  const seen = new Map<string, Manifest>() // most objects are the same in many combinations
  for (let mask = 0; mask < 2 ** names.length; mask++) {
    const chosen = names.filter((_, at) => mask & (1 << at))
    const manifests = await renderProductionWith(chosen)
    for (const manifest of manifests) seen.set(JSON.stringify(manifest), manifest)
    const worker = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'worker')!
    // Either KEDA says how many workers there are, or the deployment does.
    expect([chosen, 'replicas' in worker['spec']]).toEqual([chosen, !chosen.includes('keda')])
  }
  expect((await Promise.all([...seen.values()].map(problemsOf))).flat()).toEqual([])
})

import { expect, test } from 'vitest'
import { accessTokenRecord, newProjectTokenBody, newTenantTokenBody } from './access-tokens.ts'
import { storedAsset } from './assets.ts'
import { projectPatch } from './projects.ts'

const shapes = { accessTokenRecord, newProjectTokenBody, newTenantTokenBody, storedAsset, projectPatch }

test.for(Object.entries(shapes))('each example of %s is one', ([, shape]) => {
  const { examples = [] } = shape.meta() ?? {}
  expect(examples).not.toEqual([])
  for (const example of examples as unknown[]) expect(shape.parse(example)).toEqual(example)
})

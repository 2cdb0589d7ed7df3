import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, time } from './fields.ts'
import { timedQuery } from './page.ts'

export const storedAsset = z
  .strictObject({
    id: id.describe('starts with ast_; what an input names as `asset`'),
    mimeType: z.string(),
    bytes: z.int(),
    createdAt: time,
    execution: id.nullable().describe('that made it'),
    key: id.nullable().describe('that it was uploaded with'),
    createdBy: id.nullable().describe('who uploaded it here'),
  })
  .meta({
    examples: [
      {
        id: exampleIds.asset,
        mimeType: 'image/png',
        bytes: 48_213,
        createdAt: '2026-11-23T09:00:00.000Z',
        execution: exampleIds.execution,
        key: null,
        createdBy: null,
      },
    ],
  })
export type StoredAssetRecord = z.infer<typeof storedAsset>

export const assetListQuery = timedQuery({ execution: id.optional() }).meta({ examples: [{ limit: 20 }] })

import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, time } from './fields.ts'
import { timedQuery } from './page.ts'

export const storedAsset = z
  .strictObject({
    id: id.describe('starts with ast_; the value of `asset` in an input'),
    mimeType: z.string(),
    bytes: z.int(),
    createdAt: time,
    execution: id.nullable().describe('the execution that created it'),
    key: id.nullable().describe('the key that uploaded it'),
    createdBy: id.nullable().describe('the user who uploaded it'),
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

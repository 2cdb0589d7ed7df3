import { buffer } from 'node:stream/consumers'
import type { ContentBlock } from '@modelcontextprotocol/server'
import { AssetMissing, AssetStoreUnavailable } from '@gateway/assets/asset-failures'
import type { AssetValue } from '@gateway/contracts/execution'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { RecordedAsset } from '@gateway/assets/send-asset'
import type { Deps } from '../deps.ts'
import { MAX_ID_CHARACTERS } from '../request/read-headers.ts'

type Needed = Pick<Deps, 'ledger' | 'assetStore'>

/** Of one result, before they are written as base64: a message is in memory whole, here and at the client. */
const MAX_BYTES = 4 * 1024 * 1024
const UNREADABLE_BY = [AssetMissing, AssetStoreUnavailable, LedgerUnavailable]

/**
 * Stored images and sounds of a project as content of a result, in their order: their bytes, or where there are too
 * many of them or they can't be read now, a text that says where they are. What the project doesn't have is left out.
 */
export async function mediaContent(deps: Needed, values: AssetValue[], project: string): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = []
  let bytesLeft = MAX_BYTES
  for (const value of values) {
    const block = await blockOf(deps, value, project, bytesLeft)
    if (block !== null) blocks.push(block.content)
    bytesLeft -= block?.bytes ?? 0
  }
  return blocks
}

async function blockOf({ ledger, assetStore }: Needed, value: AssetValue, project: string, bytesLeft: number) {
  try {
    if (value.asset.length > MAX_ID_CHARACTERS) return null
    const answer = await ledger.readAsset({ caller: { project }, asset: value.asset })
    if ('refused' in answer) return null
    if (answer.asset.bytes > bytesLeft) return { content: whereabouts(answer.asset), bytes: 0 }
    const bytes = await buffer(await assetStore.open(project, answer.asset.id))
    return { content: inlineBlock(answer.asset, bytes), bytes: bytes.length }
  } catch (error) {
    if (!UNREADABLE_BY.some((failure) => error instanceof failure)) throw error
    return { content: whereabouts({ ...value, id: value.asset }), bytes: 0 }
  }
}

function inlineBlock({ mimeType }: Pick<RecordedAsset, 'mimeType'>, bytes: Buffer): ContentBlock {
  const data = bytes.toString('base64')
  return { type: mimeType.startsWith('image/') ? 'image' : 'audio', data, mimeType }
}

function whereabouts({ id, mimeType, bytes }: Pick<RecordedAsset, 'id' | 'mimeType' | 'bytes'>): ContentBlock {
  return {
    type: 'text',
    text: `The asset ${id} (${mimeType}, ${bytes} bytes) is not shown here. GET /v1/assets/${id} on the server of this tool answers its bytes, with the same Authorization header.`,
  }
}

import { buffer } from 'node:stream/consumers'
import type { ContentBlock } from '@modelcontextprotocol/server'
import { AssetMissing, AssetStoreUnavailable } from '@gateway/assets/asset-failures'
import type { AssetStore } from '@gateway/assets/asset-store'
import type { AssetValue } from '@gateway/contracts/execution'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'

/**
 * Stored images and sounds of a project as content of a result, in their order: their bytes, or where there are too many of them
 * or they can't be read now, a text that says where they are. What the project doesn't have is not shown.
 */
export type ShowMedia = (values: AssetValue[], project: string) => Promise<ContentBlock[]>

interface Deps {
  ledger: Pick<LedgerClient, 'readAsset'>
  store: Pick<AssetStore, 'open'>
  /** Of one result, before they are written as base64. */
  mostBytes?: number
}

/** A message is held in memory whole, here and by its reader, and most clients take no larger ones. */
const MOST_BYTES = 4 * 1024 * 1024
/** No id of ours is longer. */
const MOST_CHARACTERS = 256

export function mediaShower({ ledger, store, mostBytes = MOST_BYTES }: Deps): ShowMedia {
  return async (values, project) => {
    const shown: ContentBlock[] = []
    let bytesLeft = mostBytes
    for (const value of values) {
      const block = await show(value, project, bytesLeft)
      if (block !== null) shown.push(block.content)
      bytesLeft -= block?.bytes ?? 0
    }
    return shown
  }

  async function show(value: AssetValue, project: string, bytesLeft: number) {
    try {
      if (value.asset.length > MOST_CHARACTERS) return null
      const answer = await ledger.readAsset({ caller: { project }, asset: value.asset })
      if ('refused' in answer) return null
      if (answer.asset.bytes > bytesLeft) return { content: whereabouts(answer.asset), bytes: 0 }
      const bytes = await buffer(await store.open(project, answer.asset.id))
      return { content: blockOf(answer.asset, bytes), bytes: bytes.length }
    } catch (error) {
      if (!CAN_NOT_BE_READ.some((failure) => error instanceof failure)) throw error
      return { content: whereabouts({ ...value, id: value.asset }), bytes: 0 }
    }
  }
}

const CAN_NOT_BE_READ = [AssetMissing, AssetStoreUnavailable, LedgerUnavailable]

interface Stored {
  id: string
  mimeType: string
  bytes: number
}

function blockOf({ mimeType }: Stored, bytes: Buffer): ContentBlock {
  const data = bytes.toString('base64')
  return { type: mimeType.startsWith('image/') ? 'image' : 'audio', data, mimeType }
}

function whereabouts({ id, mimeType, bytes }: Stored): ContentBlock {
  return {
    type: 'text',
    text: `The asset ${id} (${mimeType}, ${bytes} bytes) is not shown here. GET /v1/assets/${id} on the server of this tool answers its bytes, with the same Authorization header.`,
  }
}

import { z } from 'zod'
import { serviceTag } from '@gateway/api/service-tag'
import type { ContractSide } from '@gateway/api/graph'
import { ceilingMicro, type StoppedBy } from '@gateway/api/execution'
import type { AttachmentLimits, NamedAsset } from '@gateway/api/attachments'
import type { Refused } from './ledger-refusal.ts'
import { chatLimits } from '@gateway/api/limits'
import { mediaTypes } from '@gateway/api/media-type'
import type { Usage } from '@gateway/pricing/usage'

// Requests and responses of the ledger's operations on executions, sandboxes and assets (ledger-operations.ts). A
// refusal is returned with status 200 and `{ refused: { code, facts } }` (ledger-refusal.ts).

const id = z.string().min(1).max(64)
const hash = z.string().regex(/^[0-9a-f]{64}$/)

/** A caller with a key: its secret's hash, and the project that the caller names, to be compared. */
const byKey = z.strictObject({
  keyHash: hash,
  selector: z.string().max(512).nullable(),
})
/** A user whose permissions on the project the console has checked. Only the console may send this. */
const byUser = z.strictObject({ user: id, project: id })
const caller = z.union([byKey, byUser])
/** A worker, for an execution of that project. */
const byProject = z.strictObject({ project: id })

/** Any `tracestate` of an older sender is dropped: it is text of a caller. */
const trace = z.object({ traceparent: z.string().max(128) }).nullable()

/** /executions/start: starts an execution, or returns the one of its idempotency key. Safe to repeat by `id`. */
export const startQuestion = z.strictObject({
  /** `exe_…`, minted by the caller. */
  id,
  caller,
  sandbox: z.string().min(1).max(256),
  /** null: the active one. A key may name no other one; a user in the console may name any valid one. */
  revision: z.int().min(1).nullable(),
  /** `invoke`: `input` is the object of the contract. `chat`: `input` is the text for the one text field. */
  surface: z.enum(['invoke', 'chat']),
  input: z.unknown(),
  /** Scope is the project and the sandbox. `fingerprint` hex SHA-256. null: a separate execution. */
  idempotency: z.strictObject({ key: z.string().min(1).max(128), fingerprint: hash }).nullable(),
  /** Micro-USD that its nodes may be charged in total; null: no ceiling (money §7.5). */
  maxMicro: ceilingMicro.nullable(),
  /** Of its calls; null or absent: that of the key, if it has one. */
  tag: serviceTag.nullish(),
  /** Start nothing: return only what was started before, else `rate_limited`. For callers over their rate. */
  repeatOnly: z.boolean().optional(),
  trace,
})
export type StartQuestion = z.infer<typeof startQuestion>

export type StartAnswer =
  | {
      kind: 'started'
      execution: string
      project: string
      sandbox: string
      revision: number
      /** Key of the caller; null for a user. */
      key: string | null
      /** It was started before under this idempotency key. */
      replayed: boolean
      /** For the chat surface, the one text field of the output. */
      textField: string | null
    }
  | Refused

/**
 * /sandboxes/estimate: the basis of an estimate (packages/api/src/estimate.ts). Authorized like a start; starts
 * nothing.
 */
export const estimateQuestion = startQuestion.pick({ caller: true, sandbox: true, revision: true, input: true })
export type EstimateQuestion = z.infer<typeof estimateQuestion>

/**
 * /executions/rerun: starts an execution that reuses the results of an earlier one, except those of the node
 * `from` and the nodes below it; or returns the one of its idempotency key. Safe to repeat by `id`. Only the console
 * may send this, for a user whom it has authorized in `project`.
 */
export const rerunQuestion = z.strictObject({
  /** `exe_…`, minted by the caller. */
  id,
  user: id,
  project: id,
  /** The earlier execution; one of another project is refused as if it did not exist. */
  execution: z.string().max(256),
  from: z.string().max(256),
  /** null: the one that the earlier execution ran, as it ran it. */
  revision: z.int().min(1).nullable(),
  /** Its ceiling, for the nodes that run again; null: none. */
  maxMicro: ceilingMicro.nullable(),
  /** Scope is the project and the user. `fingerprint` hex SHA-256. null: a separate execution. */
  idempotency: z.strictObject({ key: z.string().min(1).max(128), fingerprint: hash }).nullable(),
  trace,
})
export type RerunQuestion = z.infer<typeof rerunQuestion>

export type RerunAnswer =
  | {
      kind: 'started'
      execution: string
      project: string
      sandbox: string
      revision: number
      /** It was started before under this idempotency key. */
      replayed: boolean
    }
  | Refused

/**
 * /executions/follow: the lines of progress after `after` (-1: from the first), as NDJSON text with a newline
 * after each, and whether the last of them is `complete`. `caller` is the key that reads them, which is authorized
 * again for each read; without it the process reads for itself, or for a user whom it has authorized in `project`.
 */
export const followQuestion = z.strictObject({
  execution: z.string().max(256),
  after: z.int().min(-1),
  caller: byKey.optional(),
  /** An execution of another project is refused as if it did not exist. Projects take turns at reading. */
  project: id.optional(),
})
export type FollowQuestion = z.infer<typeof followQuestion>
export interface Progress {
  lines: string
  /** The seq of the last line so far. */
  seq: number
  done: boolean
}
export type FollowAnswer = Progress | Refused

/**
 * /executions/ended: which of these have ended. An unknown one has not. Only sent by callers that received
 * `started`.
 */
export const endedQuestion = z.strictObject({ executions: z.array(id).min(1).max(1_000) })
export type EndedQuestion = z.infer<typeof endedQuestion>
export interface EndedAnswer {
  ended: string[]
}

/** /executions/read: the record as compact JSON text, to be sent unchanged. */
export const executionQuestion = z.strictObject({
  caller: byKey.nullable(),
  project: id.nullable(),
  execution: z.string().max(256),
  /** As users read it. Only the console may send this. */
  detailed: z.boolean().optional(),
})
export type ExecutionQuestion = z.infer<typeof executionQuestion>
export type ExecutionAnswer =
  | {
      record: string
      done: boolean
      /** The field that is the entire output and an image by its contract; null for any other output. */
      image: string | null
    }
  | Refused

/**
 * /executions/cancel: cancels an execution and returns its record at that time. One that has ended, or started to
 * fail, stays unchanged. Safe to repeat.
 */
export const cancelQuestion = z.strictObject({
  /** null: a user whom the console has authorized in `project`; only the console may send this. */
  caller: byKey.nullable(),
  project: id.nullable(),
  execution: z.string().max(256),
  /**
   * The sandbox product that the caller names; an execution of another one is refused as unknown. null: they name none.
   */
  sandbox: z.string().max(256).nullable(),
})
export type CancelQuestion = z.infer<typeof cancelQuestion>
export type CancelAnswer =
  | {
      /** For a user, as users read it. */
      record: string
      sandbox: string
      /** Whether this request canceled it. */
      began: boolean
      /** By whom it was canceled; null: it was not. */
      stoppedBy: StoppedBy | null
    }
  | Refused

/**
 * /executions/usage: total tokens of the settled calls of an execution's nodes; for one that is answered as a
 * chat.
 */
export const usageQuestion = z.strictObject({ execution: id })
export type UsageQuestion = z.infer<typeof usageQuestion>
export type UsageAnswer = Pick<Usage, 'promptTokens' | 'completionTokens'>

/**
 * /sandboxes/read: what a caller may know of a sandbox before calling it; for MCP and for the kind of a model id.
 */
export const sandboxQuestion = z.strictObject({ caller: byKey, sandbox: z.string().min(1).max(256) })
export type SandboxQuestion = z.infer<typeof sandboxQuestion>
interface AnySandbox {
  id: string
  name: string
  description: string
  project: string
  mcpEnabled: boolean
  /** It starts no execution; a repeat still returns what was started before (rules §2.8). */
  suspended: boolean
}
export interface ActiveSandbox extends AnySandbox {
  revision: number
  digest: string
  input: ContractSide
  output: ContractSide
  /** The first product of its manifest that the project can't call: then it starts no execution either. */
  unassigned: string | null
  /** The first product of its manifest that is missing from the key's allowlist: then the key starts none. */
  unlisted: string | null
}
export type SandboxFacts = ActiveSandbox | (AnySandbox & { revision: null })
export type SandboxAnswer = { sandbox: SandboxFacts } | Refused

/** /assets/record: the bytes were stored; from now on the project has them. `id` is `ast_…`. Safe to repeat. */
export const assetRecord = z.strictObject({
  id,
  caller: z.union([byKey, z.strictObject({ project: id, execution: id }), z.strictObject({ project: id, user: id })]),
  mimeType: z.enum(mediaTypes),
  bytes: z
    .int()
    .min(1)
    .max(25 * 1024 * 1024),
})
export type AssetRecordQuestion = z.infer<typeof assetRecord>

/**
 * /assets/admit: whether the caller may store an asset now, asked before its bytes are read. `bytes`: its size, or
 * null if it is not known. Reserves nothing: `recordAsset` decides.
 */
export const assetAdmission = assetRecord.pick({ caller: true, bytes: true }).extend({
  bytes: assetRecord.shape.bytes.nullable(),
})
export type AssetAdmissionQuestion = z.infer<typeof assetAdmission>
export type AssetAdmissionAnswer = { project: string } | Refused

export type AssetRecordAnswer = { recorded: true; project: string } | Refused

/**
 * /assets/delete: the project no longer has it. Its bytes are removed later (`assetsToRemove`). Safe to repeat.
 */
export const assetDeletion = z.strictObject({ project: id, asset: id })

/**
 * /assets/to-remove: assets that no caller and no running execution can read, and whose bytes are still there, in the order
 * of their deletion.
 */
export const assetsToRemove = z.strictObject({
  limit: z.int().min(1).max(1_000),
  /** The last asset of the page before; absent for the first page. */
  after: z.object({ id, deletedAt: z.iso.datetime() }).optional(),
})

/** /assets/removed: their bytes are gone, and their rows are deleted. Safe to repeat. */
export const assetsRemoved = z.strictObject({ ids: z.array(id).min(1).max(1_000) })

/** /assets/read: its owner and what it is. */
export const assetQuestion = z.strictObject({
  caller: z.union([byKey, byProject]),
  asset: z.string().max(256),
})
export type AssetQuestion = z.infer<typeof assetQuestion>
export type AssetAnswer = { asset: { id: string; project: string; mimeType: string; bytes: number } } | Refused

/**
 * /attachments/read: before a chat call with images or files: what its product accepts, and the assets that the
 * call names.
 */
export const attachmentQuestion = z.strictObject({
  caller: z.union([byKey, byProject]),
  model: z.string().min(1).max(256),
  assets: z.array(z.string().max(64)).max(chatLimits.images + chatLimits.files),
})
export type AttachmentQuestion = z.infer<typeof attachmentQuestion>
export type AttachmentAnswer =
  | {
      project: string
      /** Nothing if the project can't call it now, which the admission reports. */
      limits: AttachmentLimits
      /** Those of the project, in any order. */
      assets: NamedAsset[]
    }
  | Refused

// Lines of progress as the ledger sends them through Redis (flows §4.4): the numbers of the line before them and of the
// last of them, whether the execution has ended with them, then the lines. No lines: they are too large, and are read.

export interface PushedLines {
  /** Number of the line before the first of these. */
  after: number
  /** Number of the last of these. */
  seq: number
  done: boolean
  /** Each with a line feed at its end. */
  lines: string
}

const LINES = 'lines:'

/** Topic of the lines of an execution. */
export const linesTopicOf = (execution: string) => LINES + execution

export const isLinesTopic = (topic: string) => topic.startsWith(LINES)

/** Topic that is notified when someone has lost access to a project. */
export const accessTopicOf = (project: string) => `access:${project}`

/** Longer texts are read from the ledger instead, so that Redis and its subscribers stay fast. */
const MAX_PUSHED_CHARACTERS = 64 * 1024

export function pushedText({ after, seq, done, lines }: PushedLines): string {
  return `${after} ${seq} ${done ? 1 : 0}\n${lines.length > MAX_PUSHED_CHARACTERS ? '' : lines}`
}

/** Returns null for a text of another form, such as a later release may send. */
export function readPushed(text: string): PushedLines | null {
  const [, after, seq, done] = /^(-?\d+) (\d+) ([01])\n/.exec(text) ?? []
  if (after === undefined) return null
  return { after: Number(after), seq: Number(seq), done: done === '1', lines: text.slice(text.indexOf('\n') + 1) }
}

// Every limit that a caller can hit, with its rule. KB = 1,024 bytes; "under" is strict (rules §1.5).

const KB = 1024

/** Rules §3.1, §3.2. */
export const chatLimits = {
  messages: { min: 1, max: 100 },
  maxTokens: { min: 0, max: 8192 },
  temperature: { min: 0, max: 2 },
  topP: { above: 0, max: 1 },
  stopSequences: 4,
  stopCharacters: { min: 1, max: 64 },
  tools: 64,
  toolsBytesUnder: 32 * KB,
  toolChoiceBytesUnder: 2 * KB,
  responseFormatBytesUnder: 8 * KB,
  /** Fields or entries of the value of any field of the body (rules §2.6). */
  entries: 1_024,
  /** `messages` and all forwarded fields as one compact JSON object, without the data of attachments, in UTF-8 bytes. */
  forwardedBytes: 128_000,
  /** Images and files of one request, and their total bytes, regardless of the limits of its product (rules §3.11). */
  images: 100,
  files: 10,
  attachmentBytes: 15 * 1024 * KB,
  /**
   * The raw body without the data of its attachments (rules §2.6): `forwardedBytes` of text outside ASCII, which many clients
   * write as escapes three times as long, and the fields that are not forwarded.
   */
  textBodyBytes: 512 * KB,
  /** The raw body: the text, and the attachments as base64. A larger body is refused before it is read in full. */
  bodyBytes: 512 * KB + 20 * 1024 * KB,
} as const

/** One call of an embedding product. */
export const embeddingLimits = {
  inputs: 2_048,
  /** Of one text, in UTF-8 bytes. */
  inputBytes: 64 * KB,
  /** Of all texts, in UTF-8 bytes. */
  totalBytes: 384 * KB,
  /** Of one token array. */
  inputTokens: 16_384,
  /** Of all token arrays. */
  totalTokens: 40_000,
  dimensions: { min: 1, max: 8_192 },
} as const

/** Any JSON body, before it is parsed (rules §2.6). */
export const jsonLimits = { levels: 100, fields: 10_000, values: 50_000 } as const

/** Rules §5.1, §5.4: characters of an Idempotency-Key, visible ASCII. */
export const idempotencyKeyLimits = { min: 8, max: 128, keptDays: 30, savedAnswerBytes: 1024 * KB } as const

/** Rules §6.6. */
export const keyLimits = {
  expiryDays: { min: 1, max: 365, default: 90 },
  limitMicro: { min: 1, max: Number.MAX_SAFE_INTEGER },
} as const

/** Rules §3.7, §3.8, §5.3: how long things may take. */
export const times = {
  callMs: 300_000,
  joinMs: 60_000,
  headersWaitMs: 10_000,
} as const

/** Flows §2.6, §4.6; money §7.3. */
export const flowLimits = {
  nodes: 50,
  edges: 200,
  paidNodes: 8,
  contractFields: 20,
  /** One side of a contract, compact JSON in UTF-8 bytes. Each description of a flow contains both. */
  contractBytes: 64 * KB,
  selectOptions: { min: 1, max: 100 },
  /** A value on a port, compact JSON in UTF-8 bytes. */
  portBytes: 64 * KB,
  outputBytes: 256 * KB,
  /** Inputs of nodes, in the record of one execution for users: each value is also in the record as an output. */
  recordInputBytes: 256 * KB,
  /** From the first claim of a node. */
  executionMs: 300_000,
  /** An execution that no worker claims for this long fails, uncharged. */
  firstClaimMs: 900_000,
  /** Raw bodies: invoke and save, asset. */
  bodyBytes: 2048 * KB,
  assetBytes: 25_000_000,
  /** How long the bytes of a deleted asset stay: longer than an execution may wait and than work already started. */
  deletedAssetMs: 3_600_000,
  /** Age of its ID up to which stored bytes can become an asset: many times as long as their record is retried. */
  assetRecordMs: 12 * 3_600_000,
  /** Age in days after which a project may have its assets deleted. */
  assetRetentionDays: { min: 1, max: 3_650 },
  /** Attempts of a node whose worker dies. */
  attempts: 5,
  /** How long a child call waits for money that other calls have reserved. */
  fundsWaitMs: 30_000,
} as const

/**
 * Rules §4.4: the limits that a sandbox product publishes as a model. Its input text and its output text are each
 * bounded like a value on a port, in bytes of compact JSON, but clients count tokens. One token is taken as 8 bytes,
 * more than tokenizers average on ordinary text, so a prompt of the published number of tokens fits.
 */
export const sandboxModelLimits = {
  bytesPerToken: 8,
  contextLength: (2 * flowLimits.portBytes) / 8,
  maxOutputTokens: flowLimits.portBytes / 8,
} as const

/** IDs in the filter of a list of the console API. */
export const MAX_IDS = 100

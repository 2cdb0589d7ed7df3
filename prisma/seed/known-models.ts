import { productDefaults } from '@gateway/api/product-defaults'

/** What a model takes and answers at most, as its product publishes it. */
export interface ModelLimits {
  /** Tokens of prompt and answer together. */
  contextLength: number
  maxOutputTokens: number
  /** The family whose exact count is the model's own; null: a prompt is bounded by its bytes. */
  tokenizer: 'o200k_base' | 'cl100k_base' | null
  inputModalities: string[]
  /** null: image parts are refused, because no reference says what one costs at most. */
  maxTokensPerImage: number | null
  supportedParameters: string[]
}

/**
 * The limits of a model that `npm start` is asked for by its name alone. Dated names (`gpt-4o-2024-08-06`) are those of
 * their model. A model no one knows gets `unknownModel`.
 */
export function limitsOf(model: string): ModelLimits {
  return known.find(({ names }) => names.test(model))?.limits ?? unknownModel
}

const text = ['text']
const textAndFile = ['text', 'file']
const all = ['text', 'image', 'file']
const { supportedParameters: sampled } = productDefaults
const whole = ['max_tokens', 'stream', 'stream_options']
const tools = ['tools', 'tool_choice', 'parallel_tool_calls']
const penalties = ['frequency_penalty', 'presence_penalty']

/**
 * Small enough for what users run at home. Anyone who knows better says so: `MODEL_LIMITS` of `npm start`, or PATCH of the
 * product.
 */
export const unknownModel: ModelLimits = {
  contextLength: 32_768,
  maxOutputTokens: 4096,
  tokenizer: null,
  inputModalities: text,
  maxTokensPerImage: null,
  supportedParameters: [...sampled, 'seed', ...tools, 'response_format', ...penalties],
}

// https://platform.openai.com/docs/models: context window, maximal output and modalities of each model's page.
// https://platform.openai.com/docs/guides/images-vision#calculating-costs: 8 tiles at most (2048 x 768 pixels) for the
// models that count tiles; 1536 patches times the model's factor for those that count patches.
// https://platform.openai.com/docs/guides/reasoning: which take no sampling, no penalties and no log-probabilities.
const openAi = { tokenizer: 'o200k_base' as const, inputModalities: all }
const chat = [...sampled, 'seed', ...tools, 'response_format', ...penalties, 'logit_bias', 'logprobs', 'top_logprobs']
const reasoning = [...whole, 'seed', 'tools', 'tool_choice', 'response_format', 'reasoning_effort']
const newReasoning = [...reasoning, 'parallel_tool_calls', 'verbosity']

const gpt4o = { ...openAi, contextLength: 128_000, maxOutputTokens: 16_384, supportedParameters: chat }
const gpt41 = { ...openAi, contextLength: 1_047_576, maxOutputTokens: 32_768, supportedParameters: chat }
const oSeries = { ...openAi, contextLength: 200_000, maxOutputTokens: 100_000, supportedParameters: reasoning }
const gpt5 = { ...openAi, contextLength: 400_000, maxOutputTokens: 128_000, supportedParameters: newReasoning }

// https://docs.claude.com/en/docs/about-claude/models/overview: context window and maximal output.
// https://platform.openai.com/docs/guides/pdf-files, https://docs.claude.com/en/docs/build-with-claude/pdf-support and
// https://ai.google.dev/gemini-api/docs/document-processing: every model that sees images reads PDF files.
// https://docs.claude.com/en/docs/build-with-claude/vision: an image is made small enough to be 1,600 tokens at most,
// 4,784 from Opus 4.7 on. https://docs.claude.com/en/docs/build-with-claude/effort and .../structured-outputs: who takes
// reasoning_effort and response_format; from Opus 4.7 on no temperature and no top_p. No seed, no penalties anywhere.
const claude = { tokenizer: null, inputModalities: all, maxTokensPerImage: 1600, contextLength: 200_000 }
const claudeChat = [...sampled, ...tools]
const claudeNow = [...whole, 'stop', ...tools, 'response_format', 'reasoning_effort']

// https://ai.google.dev/gemini-api/docs/models: limits of input and output together.
// https://ai.google.dev/gemini-api/docs/media-resolution: tokens of an image, from Gemini 3 on; before it an image is
// tiled without an end, so none are taken. https://ai.google.dev/api/generate-content#generationconfig: parameters.
const gemini = { tokenizer: null, contextLength: 1_048_576, inputModalities: textAndFile, maxTokensPerImage: null }
const geminiParameters = [...sampled, 'seed', 'tools', 'tool_choice', 'response_format', ...penalties]
const geminiThinks = [...geminiParameters, 'reasoning_effort']

const rows: [names: RegExp, limits: ModelLimits][] = [
  [/^gpt-4o-mini/, { ...gpt4o, maxTokensPerImage: 48_169 }],
  [/^gpt-4o/, { ...gpt4o, maxTokensPerImage: 1445 }],
  [/^gpt-4\.1-nano/, { ...gpt41, maxTokensPerImage: 3779 }],
  [/^gpt-4\.1-mini/, { ...gpt41, maxTokensPerImage: 2489 }],
  [/^gpt-4\.1/, { ...gpt41, maxTokensPerImage: 1445 }],
  [/^o3-mini/, { ...oSeries, inputModalities: text, maxTokensPerImage: null }],
  [/^o4-mini/, { ...oSeries, maxTokensPerImage: 2642 }],
  [/^o[13]/, { ...oSeries, maxTokensPerImage: 1275 }],
  [/^gpt-5(\.\d)?-chat/, { ...gpt4o, maxTokensPerImage: 1190 }],
  [/^gpt-5\.[45](-pro)?(?!-(mini|nano))/, { ...gpt5, contextLength: 1_050_000, maxTokensPerImage: 10_000 }],
  [/^gpt-5(\.\d)?(-pro)?-(mini|nano)/, { ...gpt5, maxTokensPerImage: 3779 }],
  [/^gpt-5/, { ...gpt5, maxTokensPerImage: 3779 }],

  [
    /^claude-3-haiku/,
    { ...claude, inputModalities: ['text', 'image'], maxOutputTokens: 4096, supportedParameters: claudeChat },
  ],
  [/^claude-(3-5|3\.5)/, { ...claude, maxOutputTokens: 8192, supportedParameters: claudeChat }],
  [/^claude-opus-4(-[01]|-2025\d{4})?$/, { ...claude, maxOutputTokens: 32_000, supportedParameters: claudeChat }],
  [/^claude-opus-4-1-/, { ...claude, maxOutputTokens: 32_000, supportedParameters: claudeChat }],
  [
    /^claude-(sonnet|haiku|opus)-4-5/,
    { ...claude, maxOutputTokens: 64_000, supportedParameters: [...claudeChat, 'response_format'] },
  ],
  [
    /^claude-(3-7-sonnet|sonnet-4(-0|-2025\d{4})?$)/,
    { ...claude, maxOutputTokens: 64_000, supportedParameters: claudeChat },
  ],
  [
    /^claude-(opus|sonnet)-4-6/,
    {
      ...claude,
      contextLength: 1_000_000,
      maxOutputTokens: 64_000,
      supportedParameters: [...claudeChat, 'response_format', 'reasoning_effort'],
    },
  ],
  [
    /^claude-(opus-4-[78]|(opus|sonnet)-5)/,
    {
      ...claude,
      contextLength: 1_000_000,
      maxOutputTokens: 128_000,
      maxTokensPerImage: 4784,
      supportedParameters: claudeNow,
    },
  ],

  [/^gemini-2\.0-flash/, { ...gemini, maxOutputTokens: 8192, supportedParameters: geminiParameters }],
  [/^gemini-2\.5-(pro|flash)/, { ...gemini, maxOutputTokens: 65_536, supportedParameters: geminiThinks }],
  [
    /^gemini-3/,
    {
      ...gemini,
      maxOutputTokens: 65_536,
      inputModalities: all,
      maxTokensPerImage: 2240,
      supportedParameters: geminiThinks,
    },
  ],
]

const known = rows.map(([names, limits]) => ({ names, limits }))

import type { RealModel, RealProvider } from '@gateway/prisma/seeded'
import type { LimitsByModel } from './model-limits.ts'
import { priced, type NamedModel } from './real-models.ts'

/** The variables of stack-config.ts that say which models. */
interface Asked {
  OPENAI_API_KEY?: string | undefined
  OPENAI_BASE_URL?: string | undefined
  OPENAI_MODELS?: NamedModel[] | undefined
  ANTHROPIC_API_KEY?: string | undefined
  ANTHROPIC_MODELS?: NamedModel[] | undefined
  GEMINI_API_KEY?: string | undefined
  GEMINI_MODELS?: NamedModel[] | undefined
  AZURE_OPENAI_MODELS?: NamedModel[] | undefined
  BEDROCK_MODELS?: NamedModel[] | undefined
  MODEL_LIMITS?: LimitsByModel | undefined
}

/** The models that the environment selects: those it names, or one per provider if it only has a key. */
export function realModelsOf(asked: Asked): RealModel[] {
  const ofProvider: Record<RealProvider, NamedModel[]> = {
    openai: openAiModels(asked),
    anthropic: modelsOr(asked.ANTHROPIC_API_KEY, asked.ANTHROPIC_MODELS, priced('claude-haiku-4-5', '1', '5')),
    google: modelsOr(asked.GEMINI_API_KEY, asked.GEMINI_MODELS, priced('gemini-2.5-flash', '0.30', '2.50')),
    azure: asked.AZURE_OPENAI_MODELS ?? [],
    bedrock: asked.BEDROCK_MODELS ?? [],
  }
  return (Object.keys(ofProvider) as RealProvider[]).flatMap((provider) =>
    ofProvider[provider].map((named) => ({ ...named, provider, ...limitsOf(asked, named) })),
  )
}

function limitsOf({ MODEL_LIMITS: limits }: Asked, { model }: NamedModel): Pick<RealModel, 'limits'> {
  return limits && Object.hasOwn(limits, model) ? { limits: limits[model] } : {}
}

function openAiModels({ OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODELS }: Asked): NamedModel[] {
  if (OPENAI_MODELS) return OPENAI_MODELS
  return OPENAI_API_KEY && !OPENAI_BASE_URL ? [priced('gpt-4.1-mini', '0.40', '1.60')] : []
}

function modelsOr(key: string | undefined, models: NamedModel[] | undefined, one: NamedModel): NamedModel[] {
  return key === undefined ? [] : (models ?? [one])
}

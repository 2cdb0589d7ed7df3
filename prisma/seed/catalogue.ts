import type { PrismaClient } from '@gateway/database/client'
import { productDefaults } from '@gateway/api/product-defaults'
import { ids } from './seeded.ts'
import { perRequest, perToken, product, type Product } from './product-row.ts'
import { OWNER_OF_REAL, isReal, isSeededRoute, realProduct, type RealModel } from './real-models.ts'

/** The simulated chat models, the one to try first in front. */
const models = ['acme/swift', 'acme/sage', 'acme/flat']
export const media = { image: 'acme/canvas', audio: 'acme/voice' }

const basic = [...productDefaults.supportedParameters, 'seed']
const all = [
  ...basic,
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'frequency_penalty',
  'presence_penalty',
]

// The bound of a prompt is half a token a byte and some more a message: the simulated provider never reports more than that.
// It counts in its own way, so a product priced by its tokens names no tokenizer: an exact count would be no bound.
const simulated = [
  product('acme/swift', 'Swift', 'Fast and inexpensive chat model.', 'sim-swift', {
    contextLength: 262_144,
    maxOutputTokens: 8192,
    supportedParameters: all,
    ...perToken('0.00000015', '0.0000006'),
  }),
  product(
    'acme/sage',
    'Sage',
    'Chat model that thinks before it answers, and reads images and PDF files.',
    'sim-sage-think',
    {
      contextLength: 200_000,
      maxOutputTokens: 16_384,
      supportedParameters: [...all, 'reasoning_effort'],
      inputModalities: ['text', 'image', 'file'],
      maxTokensPerImage: 1024,
      ...perToken('0.0000025', '0.00001'),
    },
  ),
  product('acme/flat', 'Flat', 'Chat model with one price per call, regardless of its length.', 'sim-flat', {
    contextLength: 16_384,
    maxOutputTokens: 4096,
    supportedParameters: basic,
    tokenizer: 'o200k_base',
    ...perRequest('0.002'),
  }),
  product('acme/embed', 'Embed', 'Turns texts into vectors, for search.', 'sim-embed', {
    kind: 'embedding',
    contextLength: 300_000,
    maxOutputTokens: 1,
    supportedParameters: ['dimensions'],
    outputModalities: ['embedding'],
    ...perToken('0.00000002', '0'),
  }),
  product(media.image, 'Canvas', 'Draws an image from a prompt.', 'sim-canvas', {
    kind: 'image',
    contextLength: 8192,
    maxOutputTokens: 1,
    supportedParameters: ['size', 'format'],
    parameterValues: { size: ['256x256', '512x512', '1024x1024'], format: ['png'] },
    outputModalities: ['image'],
    ...perRequest('0.04'),
  }),
  product(media.audio, 'Voice', 'Speaks a text.', 'sim-voice', {
    kind: 'audio',
    contextLength: 8192,
    maxOutputTokens: 1,
    supportedParameters: ['voice', 'format'],
    parameterValues: { voice: ['ada', 'bob', 'cleo'], format: ['wav'] },
    outputModalities: ['audio'],
    ...perRequest('0.015'),
  }),
]

/** Of the other project, so that the two differ in what they can call. */
const ofTheOtherProject = ['acme/swift', 'acme/flat']

function projectsOf(product: string): string[] {
  return ofTheOtherProject.includes(product) ? [ids.project, ids.otherProject] : [ids.project]
}

/** Products and who may use them. Answers the chat products that the first project can call. */
export async function seedCatalogue(prisma: PrismaClient, realModels: RealModel[]): Promise<string[]> {
  const real = realModels.map(realProduct)
  for (const each of [...simulated, ...real]) await addProduct(prisma, each)
  for (const [n, each] of real.entries()) {
    const { id, providers, promptPico, completionPico, tokensPerByteMillionths, maxOutputTokens } = each
    const { limits } = realModels[n]!
    const rate = limits?.tokenizer !== undefined && { tokensPerByteMillionths } // which is the tokenizer's
    const chosen = await chosenOf(prisma, id)
    const data = {
      ...limits,
      ...(limits?.contextLength !== undefined && { maxOutputTokens }), // which fits into it
      ...rate,
      ...(!chosen.price && { promptPico, completionPico }),
      ...(!chosen.state && { state: 'published' }),
      ...(!chosen.route && { providers }),
    }
    await prisma.product.update({ where: { id }, data })
  }
  // What the environment no longer names has no provider anymore.
  const made = await prisma.product.findMany({ where: { ownedBy: OWNER_OF_REAL, state: 'published' } })
  const unserved = made.filter(({ id, providers }) => isReal(providers) && !real.some((each) => each.id === id))
  const unservedIds = unserved.map(({ id }) => id)
  await prisma.product.updateMany({ where: { id: { in: unservedIds } }, data: { state: 'suspended' } })
  return callableModels(prisma)
}

/**
 * What someone has chosen for a product in the console: all of it if they created it there, otherwise what they changed.
 * The audit, which tells, forgets in time.
 */
async function chosenOf(prisma: PrismaClient, id: string): Promise<{ route: boolean; price: boolean; state: boolean }> {
  const product = await prisma.product.findUniqueOrThrow({ where: { id } })
  if (product.ownedBy !== OWNER_OF_REAL) return { route: true, price: true, state: true }
  const changes = await prisma.$queryRaw<{ made: boolean; route: boolean; price: boolean; state: string | null }[]>`
    SELECT action = 'product.create' AS made,
           details -> 'before' -> 'providers' IS DISTINCT FROM details -> 'after' -> 'providers' AS route,
           details -> 'before' -> 'pricing' IS DISTINCT FROM details -> 'after' -> 'pricing' AS price,
           CASE WHEN action = 'product.create' THEN details ->> 'state'
                WHEN details -> 'before' -> 'state' IS DISTINCT FROM details -> 'after' -> 'state'
                THEN details -> 'after' ->> 'state' END AS state
      FROM control.audit
     WHERE subject = ${id} AND action IN ('product.create', 'product.change')
     ORDER BY id`
  const lastState = changes.findLast(({ state }) => state !== null)?.state
  return {
    route: !isSeededRoute(id, product.providers) || changes.some(({ made, route }) => made || route),
    price: !hasSeededPrice(product) || changes.some(({ made, price }) => made || price),
    state: product.state === lastState, // otherwise the seed has suspended it since
  }
}

/** The seed makes two prices per token and no other one. Only such a product can take those of the environment. */
function hasSeededPrice(product: ProductPrice): boolean {
  const { unit, cachedPico, cacheWritePico, reasoningPico } = product
  return unit === 'tokens' && cachedPico === null && cacheWritePico === null && reasoningPico === null
}

type ProductPrice = Pick<
  Awaited<ReturnType<PrismaClient['product']['findUniqueOrThrow']>>,
  'unit' | 'cachedPico' | 'cacheWritePico' | 'reasoningPico'
>

async function callableModels(prisma: PrismaClient): Promise<string[]> {
  const assigned = await prisma.assignment.findMany({ where: { project: ids.project } })
  const products = await prisma.product.findMany({
    where: { id: { in: assigned.map(({ product }) => product) }, kind: 'chat', state: 'published' },
    orderBy: { id: 'asc' },
  })
  const rank = (id: string) => (models.includes(id) ? models.indexOf(id) : models.length)
  return products.map(({ id }) => id).toSorted((a, b) => rank(a) - rank(b))
}

/** A product that was there before keeps what someone may have changed about it, and who may use it. */
async function addProduct(prisma: PrismaClient, each: Product): Promise<void> {
  await prisma.$transaction(async (tx) => {
    const { count } = await tx.product.createMany({ data: [each], skipDuplicates: true })
    if (count === 0) return
    const assignments = projectsOf(each.id).map((project) => ({ project, product: each.id, createdBy: ids.user }))
    await tx.assignment.createMany({ data: assignments, skipDuplicates: true })
  })
}

/** Assigns the products that are there already to a project that is made again. */
export async function assignProducts(tx: Pick<PrismaClient, 'product' | 'assignment'>, project: string): Promise<void> {
  const seeded = [{ id: { in: simulated.map(({ id }) => id) } }, { ownedBy: OWNER_OF_REAL }]
  const products = await tx.product.findMany({ where: { OR: seeded }, select: { id: true } })
  const its = products.filter(({ id }) => projectsOf(id).includes(project))
  await tx.assignment.createMany({ data: its.map(({ id }) => ({ project, product: id, createdBy: ids.user })) })
}

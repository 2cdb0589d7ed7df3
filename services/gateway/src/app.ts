import type { Express, RequestHandler } from 'express'
import { flowRoutes } from '@gateway/api/flow-routes'
import { gatewayRoutes } from '@gateway/api/gateway-routes'
import { answerErrors, answerOfRefusal } from '@gateway/service-kit/http/answers'
import { allowOnly, contractRoutes, mountRoutes, notFound, openApp } from '@gateway/service-kit/http/routes'
import { followExecution, showExecution } from './routes/v1/executions.ts'
import { checkKey, showKey } from './routes/v1/key.ts'
import { mountHealth, preamble } from '@gateway/service-kit/http/preamble'
import { trustProxies } from '@gateway/service-kit/http/connections'
import type { Deps } from './deps.ts'
import { explainError, refusalCodeOf } from './errors/explain-error.ts'
import { traceIdsOf } from './tracing.ts'
import { showDocs, showOpenApi } from './routes/docs.ts'
import { showAsset, uploadAsset } from './routes/v1/assets.ts'
import type { ChatWire } from '@gateway/api/wires/wire'
import { chatWire } from '@gateway/api/wires/chat/chat-wire'
import { responsesWire } from '@gateway/api/wires/responses/responses-wire'
import { messagesWire } from '@gateway/api/wires/messages/messages-wire'
import { countTokens } from './routes/v1/count-tokens.ts'
import { createEmbeddings } from './routes/v1/embeddings.ts'
import { chatCall } from './routes/v1/chat-call.ts'
import { showInvocation } from './routes/v1/invocations.ts'
import { listEmbeddingModels, listModels, showModel } from './routes/v1/models.ts'
import { cancelExecution } from './routes/v1/sandbox/cancel.ts'
import { estimateSandbox } from './routes/v1/sandbox/estimate.ts'
import { invokeSandbox } from './routes/v1/sandbox/invoke.ts'
import { serveMcp } from './routes/v1/sandbox/mcp.ts'
import { Refusal } from '@gateway/api/refusal'

/** Builds the public app. Routes are matched in order; the hot path comes first. */
export function gatewayApp(deps: Deps, proxies: readonly string[] = []): Express {
  const app = openApp()
  trustProxies(app, proxies)
  app.use(
    preamble({
      newRequestId: () => deps.newId('req'),
      log: deps.log,
      now: deps.monotonicNow,
      fields: (res) => ({
        invocation: res.getHeader('X-Service-Invocation'),
        code: refusalCodeOf(res),
        ...traceIdsOf(res),
      }),
    }),
  )

  mountRoutes(
    app,
    contractRoutes(
      { ...gatewayRoutes, ...flowRoutes },
      {
        completeChat: chatCall(deps, chatWire, 'POST /v1/chat/completions'),
        createResponse: chatCall(deps, responsesWire, 'POST /v1/responses'),
        createMessage: chatCall(deps, messagesWire, 'POST /v1/messages'),
        countMessageTokens: countTokens(deps),
        createEmbeddings: createEmbeddings(deps),
        listEmbeddingModels: listEmbeddingModels(deps),
        listModels: listModels(deps),
        readModel: showModel(deps),
        readKeyStatus: showKey(deps),
        checkKey: checkKey(deps),
        showInvocation: showInvocation(deps),
        invokeSandbox: invokeSandbox(deps),
        estimateSandbox: estimateSandbox(deps),
        cancelExecution: cancelExecution(deps),
        serveMcp: null, // mounted below, for every method
        showExecution: showExecution(deps),
        followExecution: followExecution(deps),
        uploadAsset: uploadAsset(deps),
        showAsset: showAsset(deps),
      },
    ),
  )

  const mcp = serveMcp(deps)
  app.route('/v1/sandbox/:id/mcp').post(mcp).all(mcp) // refuses other methods itself, after authorizing the caller

  app.use(['/api/v2', '/console'], deps.consoleProxy?.forward ?? notFound)

  const [docs, openApi] = [showDocs(), showOpenApi()]
  mountRoutes(app, [
    ['GET', '/docs', docs],
    ['GET', '/docs/openapi.json', openApi],
    ['GET', '/docs/*page', docs],
    ['GET', '/llms.txt', docs],
    ['GET', '/openapi.json', openApi],
  ])
  const { live, ready } = deps.readiness
  mountHealth(app, { live, ready }, allowOnly('GET'))

  app.get('/', welcome)
  app.use(unknownPath)
  app.use(
    answerErrors((error, { path }, res) => {
      const refusal = explainError(deps, error, res)
      const { errorBody } = wires.find(([paths]) => paths.test(path))?.[1] ?? chatWire
      return { ...answerOfRefusal(refusal), body: errorBody(refusal) }
    }),
  )
  return app
}

/** Wires with another form of errors than the rest of the API, by path. */
const wires: [RegExp, ChatWire][] = [
  [/^\/v1\/responses(\/|$)/i, responsesWire],
  [/^\/v1\/messages(\/|$)/i, messagesWire],
]

const CHAT = '/v1/chat/completions'
const paths = Object.values({ ...gatewayRoutes, ...flowRoutes }).map(({ path }) => path)
/** Ends of paths at which other APIs generate text. */
const TEXT = /\/(completions|generate|chat)$/

/**
 * Refuses an unknown path, and names the one that was probably meant. The message alone says both, because most SDKs
 * show nothing else.
 */
const unknownPath: RequestHandler = ({ method, path }) => {
  const asked = path.slice(0, 200)
  const meant = nearestPath(asked)
  throw new Refusal(
    'not_found',
    `${method} ${asked} does not exist here${meant === null ? '.' : `; use ${meant}.`}`,
    `Check the path: a base URL ends with /v1, chat models are called with POST ${CHAT}, and /docs lists what there is.`,
  )
}

/** Returns the path of the API with the same end, or null. */
export function nearestPath(asked: string): string | null {
  const end = asked.replace(/\/+$/, '').replace(/^.*\/v1\//, '/')
  const same = paths.find((path) => path === `/v1${end}`)
  if (same !== undefined && end !== '') return same
  return TEXT.test(end) ? CHAT : null
}

/** GET /: leads a browser to the console, and a program to the documentation. */
const welcome: RequestHandler = (req, res) => {
  res.set('Vary', 'Accept').redirect(302, req.accepts(['json', 'html']) === 'html' ? '/console' : '/llms.txt')
}

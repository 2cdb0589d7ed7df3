import type { Capability } from '../check-capabilities.ts'

const compose = 'deploy/src/compose.live.test.ts'
const dockerfile = 'deploy/src/dockerfile.test.ts'
const kubernetes = 'deploy/src/kubernetes.test.ts'
const advance = 'packages/flow/src/advance.test.ts'
const cel = 'packages/flow/src/cel.test.ts'
const contractRoutes = 'packages/http/src/contract-routes.live.test.ts'
const openProviders = 'packages/providers/src/open-providers.live.test.ts'
const seed = 'prisma/seed/seed.live.test.ts'
const failover = 'scenarios/failover.scenario.ts'
const isolation = 'scenarios/isolation.scenario.ts'
const mcpBridge = 'scenarios/mcp-bridge.scenario.ts'
const noOverspend = 'scenarios/no-overspend.scenario.ts'
const skewedClocks = 'scenarios/skewed-clocks.scenario.ts'
const stockClients = 'scenarios/stock-clients.scenario.ts'
const traces = 'scenarios/traces.scenario.ts'
const money = 'services/console/src/money/money.live.test.ts'
const pageInABrowser = 'scenarios/console.scenario.ts'
const page = 'services/console/src/page/console-page.live.test.ts'
const exactCount = 'services/gateway/src/admission/exact-count.live.test.ts'
const chatCompletions = 'services/gateway/src/routes/v1/chat-completions.live.test.ts'
const agrees = 'services/ledger/oracle/agrees.live.test.ts'
const randomExecutions = 'services/ledger/src/executions/nodes/random-executions.live.test.ts'
const stackConfig = 'tools/local-stack/src/stack-config.test.ts'

/** What the whole is made of, by what one would ask for. */
export const capabilities: readonly Capability[] = [
  {
    can: 'a list of exactly the models that a key can call now',
    statements: ['4.1'],
  },
  {
    can: 'entries with every field, three shapes of price, and no wholesale price',
    statements: ['2.2'],
  },
  {
    can: 'chat completions for stock clients',
    statements: ['1/s4', '2.5/s2', '4.2/s18'],
  },
  {
    can: 'streams, with usage on request and errors in band',
    statements: ['4.2/r3', '4.2/r4'],
    provedBy: [
      [
        chatCompletions,
        'a chat call that is streamed › that breaks off ends with the error and no [DONE], is charged for what was sent, and is kept',
      ],
      [
        chatCompletions,
        'a chat call that is streamed › fails in band once its headers had to leave without a first byte, charged nothing [provider_failed]',
      ],
      [stockClients, '$name › streams in pieces, and is charged what it is told'],
    ],
  },
  {
    can: 'every bound of a chat request',
    statements: ['8.1'],
  },
  {
    can: 'a refusal of what exceeds the context, by a true count',
    statements: ['4.2/s5'],
    provedBy: [
      [
        exactCount,
        "a prompt of more bytes than tokens › fits a context that its tokens fit, to the token${stream ? ', streamed' : ''} [context_limit]",
      ],
    ],
  },
  {
    can: 'tools, their results, reasoning history and forms of an answer',
    statements: ['4.2/s2', '4.2/r11', '4.2/r12', '4.2/r13'],
    provedBy: [
      [stockClients, '$name › calls a tool, tells what it said, and is charged for both rounds'],
      [stockClients, '$name › gets an object of the form that it asks for'],
    ],
  },
  {
    can: 'eligibility decided inside the transaction that admits',
    statements: ['4.2/s12'],
  },
  {
    can: 'money reserved and settled, and nothing charged for a refusal',
    statements: ['1/s9', '1/s10', '7/s4'],
    provedBy: [
      [
        agrees,
        'the decision in SQL and the pure one › agree on every item of ${OPERATIONS} random ones, and on every balance',
      ],
    ],
  },
  {
    can: 'repeats of a call, as one answer or as a stream, that are charged once',
    statements: ['4.2/s15', '4.2/s16', '4.2/s17'],
  },
  {
    can: 'one id that leads through answer, usage, charges and support',
    statements: ['4.2/s18'],
    provedBy: [
      [
        traces,
        "a chat call${stream ? ', streamed,' : ''} is one trace, a part of its caller’s, that says what it was and what it cost",
      ],
    ],
  },
  {
    can: 'the model in every answer, and never the provider',
    statements: ['1/s11', '9/s3'],
  },
  {
    can: 'keys of which only a hash is kept, shown once and bound for life',
    statements: ['2.1/r1', '2.1/r2', '2.1/r3', '2.1/r4'],
  },
  {
    can: 'keys for everything a project reaches, or for a list',
    statements: ['2.1/r5'],
  },
  {
    can: 'spending limits with windows, never exceeded',
    statements: ['2.1/r6', '7/r7'],
    provedBy: [[noOverspend, 'no overspend › a key limit that holds ${FIT} admits exactly ${FIT} [key_limit]']],
  },
  {
    can: 'expiry of keys',
    statements: ['2.1/r7'],
    provedBy: [
      [skewedClocks, 'clocks that are wrong by a day › neither expire a key early nor keep one alive [key_expired]'],
    ],
  },
  {
    can: 'rotation with grace and lineage',
    statements: ['4.6/s1', '2.1/r8', '9/s5'],
    provedBy: [[money, 'rotation ends the old secret at once, or after its grace']],
  },
  {
    can: 'legacy keys that call nothing, and are shown for what they are',
    statements: ['2.1/r9', '4.5/r3', '4.6/s2'],
  },
  {
    can: 'issuers who hold three requirements, at issue and at each use',
    statements: ['5/s3', '5/s7'],
  },
  {
    can: 'a selector that only checks',
    statements: ['4.5'],
  },
  {
    can: 'a wallet that is funded once per funding, and accounts of its use',
    statements: ['5/s13', '1/s3'],
    provedBy: [
      [money, 'money comes in once per funding id [already_exists]'],
      [money, 'usage adds up by model, key and day, and leaves out what is open or released'],
    ],
  },
  {
    can: 'sandbox products for those alone who may consume in their project',
    statements: ['5/s9', '5/s10', '5/s11'],
  },
  {
    can: 'contracts in a subset of JSON Schema, with selects and references',
    statements: ['2.3/s4', '2.3/s5', '2.3/s6', '2.3/s7', '2.3/s8'],
  },
  {
    can: 'graphs of typed nodes: products, templates, branches, expressions, constants',
    statements: ['2.3/s12', '2.3/s13', '2.3/s14'],
    provedBy: [
      [cel, 'values are those of another evaluator of CEL'],
      [advance, 'any valid flow ends, whatever order its nodes complete in, and always with the same result'],
    ],
  },
  {
    can: 'saving with drafts and conflicts, and revisions that stay as they are',
    statements: ['3.1/r1', '3.1/r2', '3.1/r3'],
  },
  {
    can: 'activation of all or nothing, into a package with digest and manifest',
    statements: ['3.1/r4', '3.1/r5', '2.3/s17'],
  },
  {
    can: 'invocation of the active revision with checked input',
    statements: ['4.3'],
  },
  {
    can: 'records of executions that add up',
    statements: ['2.4'],
  },
  {
    can: 'one job for a node of an execution, done once whatever dies',
    statements: ['8.2/s1', '8.2/s2'],
    provedBy: [[randomExecutions, 'random graphs › run ${name}: each ends, each node once, and the books agree']],
  },
  {
    can: 'progress in lines, and executions that go on without a reader',
    statements: ['6'],
  },
  {
    can: 'an image as the answer itself',
    statements: ['4.3/s13', '4.3/s14', '4.3/s15'],
  },
  {
    can: 'media nodes at fixed prices, whose assets stay private',
    statements: ['8.3/s4'],
  },
  {
    can: 'a sandbox product as a chat model',
    statements: ['4.2/s8', '4.2/s9', '4.2/s10', '4.2/s11'],
  },
  {
    can: 'every limit of a sandbox product',
    statements: ['8.2'],
  },
  {
    can: 'an MCP server of one tool for a sandbox product',
    statements: ['4.4'],
  },
  {
    can: 'tool calls that are charged once, with images and sounds as such',
    statements: ['4.4/s6', '4.4/s7'],
    provedBy: [
      [mcpBridge, '$name: a call whose connection is cut is one execution, and the client sees only its result'],
    ],
  },
  {
    can: 'a resolution in every refusal, which holds',
    statements: ['7/s3'],
  },
  {
    can: 'failed executions that tell what they cost, also when money runs out on the way',
    statements: ['7/s5', '2.4/s3'],
  },
  {
    can: 'a console API of which every route is described and guarded',
    statements: ['9/s2'],
    provedBy: [
      [isolation, 'every route has a row › of the console'],
      [
        contractRoutes,
        'each row is mounted with the handler of its operation, and its parameters have the names of the row',
      ],
    ],
  },
  {
    can: 'a console in the browser',
    provedBy: [
      [pageInABrowser, 'keys from before keys were bound to projects come first, until they are revoked'],
      [page, 'each file that it names has a name of its content and is kept for ever'],
    ],
  },
  {
    can: 'several providers of a product, tried in turn for one charge',
    provedBy: [
      [failover, 'who is asked › a provider that dies under load: every call is answered once and charged once'],
      [
        failover,
        'who is asked › both of two that fail are asked twice, in turn, and nothing is charged [provider_failed]',
      ],
      [
        failover,
        'a provider that fails again and again › rests while another one answers, and is asked again when it has recovered',
      ],
    ],
  },
  {
    can: 'providers of the world by an environment variable',
    provedBy: [
      [
        stackConfig,
        'the configuration of npm start › an OpenAI key alone adds one model, served by OpenAI, and the key goes by reference',
      ],
      [
        stackConfig,
        'the configuration of npm start › an Anthropic key adds one model, or those that are named, beside those of OpenAI',
      ],
      [seed, 'real models stand beside the simulated ones as long as the environment names them'],
      [openProviders, 'what is sent › to %s with the key and no header that tells who calls'],
    ],
  },
  {
    can: 'images, compose and Kubernetes objects that fit what the programs read',
    provedBy: [
      [compose, 'docker compose takes it'],
      [kubernetes, 'overlay %s › every object fits the schema of its kind'],
      [dockerfile, '%s holds what its process imports'],
    ],
  },
  {
    can: 'one trace of a call or an execution, through every process',
    provedBy: [
      [
        traces,
        "a chat call${stream ? ', streamed,' : ''} is one trace, a part of its caller’s, that says what it was and what it cost",
      ],
      [traces, 'an execution whose worker is killed in the middle is one trace, with every span in its place'],
    ],
  },
]

/**
 * Capabilities beyond the specification. Tests tag them like sentences of the specification, as in `// spec: can/failover`, and each
 * needs a test.
 */
export const capabilities: Readonly<Record<string, string>> = {
  'can/streams': 'streams, with usage on request and errors in band',
  'can/true-count': 'a refusal of what exceeds the context, by a true count',
  'can/tools': 'tools, their results, reasoning history and forms of an answer',
  'can/settlement': 'money reserved and settled, and nothing charged for a refusal',
  'can/one-id': 'one id that leads through answer, usage, charges and support',
  'can/spending-limits': 'spending limits with windows, never exceeded',
  'can/expiry': 'expiry of keys',
  'can/rotation': 'rotation with grace and lineage',
  'can/wallet': 'a wallet that is funded once per funding, and accounts of its use',
  'can/graphs': 'graphs of typed nodes: products, templates, branches, expressions, constants',
  'can/one-job': 'one job for a node of an execution, done once through any crash',
  'can/tool-calls': 'tool calls that are charged once, with images and sounds as such',
  'can/console-api': 'a console API of which every route is described and guarded',
  'can/console': 'a console in the browser',
  'can/failover': 'several providers of a product, tried in turn for one charge',
  'can/real-providers': 'providers of real models, by an environment variable',
  'can/deployment': 'images, compose and Kubernetes objects that fit what the programs read',
  'can/traces': 'one trace of a call or an execution, through every process',
}

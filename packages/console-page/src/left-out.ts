import { readFile } from 'node:fs/promises'

/** Replaces the JSON Schema support of zod, which the page never uses. */
async function withoutDescriptions(file: string): Promise<string> {
  const text = await readFile(file, 'utf8')
  const names = [...text.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name!)
  const others = [...text.matchAll(/^export \{ \w+ as (\w+) \};$/gm)].map(([, name]) => name!)
  const lines = [...names, ...others].map((name) => `gone as ${name}`)
  return `const gone = () => { throw new Error('The page has nothing to describe shapes with.') }\nexport { ${lines.join(', ')} }`
}

/** Removes the 26 string formats of zod, such as IP addresses. No schema of the page uses one. */
async function withoutFormats(file: string): Promise<string> {
  const text = await readFile(file, 'utf8')
  return text.replaceAll(
    /return this\.check\(core\._\w+\(Zod\w+, params\)\);/g,
    "throw new Error('The page knows no formats of texts.');",
  )
}

/** JSON values have no cycles, so no cycle detection is needed. */
const noCycles = `
export class $ZodCyclicError extends Error {}
export const memoizer = () => undefined
export const isRecursiveSchema = () => false
export const isBackEdge = () => false
`

/** Makes canvas transitions instant, because the canvas has no animations. */
const noTransitions = () => `
import { selection } from 'd3-selection'
const same = function () { return this }
const arrive = function (_, make) { return this.each(function (...args) { make.apply(this, args)(1) }) }
Object.assign(selection.prototype, { interrupt: same, transition: same, duration: same, ease: same, tween: arrive })
export const interrupt = () => {}
`

/** Interpolates canvas views and the numbers of charts, not colors, dates, arrays or strings with numbers. */
const viewsAndNumbers = () => `
import interpolateNumber from './number.js'
import interpolateZoom from './zoom.js'
export { interpolateNumber, interpolateZoom }
export { default as interpolateRound } from './round.js'
export { default as piecewise } from './piecewise.js'
export const interpolate = (a, b) => (Array.isArray(a) ? interpolateZoom(a, b) : interpolateNumber(a, b))
`

/** The CEL parser with its macro checks, without type checking and evaluation. */
const parserAlone = `
import { Parser } from './parser.js'
import { registerMacros } from './macros.js'

const macros = new Map()
registerMacros({
  registerFunctionOverload(signature, handler) {
    const [, receiver, name, args] = /^(?:(\\w+)\\.)?(\\w+)\\((.*)\\)/.exec(signature)
    macros.set([name, receiver !== undefined, args.split(',').length].join(), { handler })
  },
  registerType() {},
  registerConstant() {},
})
export class Environment {
  #parser
  constructor({ limits }) {
    this.#parser = new Parser(limits, { findMacro: (...sought) => macros.get(sought.join()), enableOptionalTypes: false })
  }
  parse(source) {
    return { ast: this.#parser.parse(source) }
  }
}
export const parse = undefined, evaluate = undefined, check = undefined
`

/** Operator names of a parsed expression, without their implementation. */
const operatorNames = `
const aliases = {
  '.': 'fieldAccess', '.?': 'optionalFieldAccess', '[]': 'bracketAccess', '[?]': 'optionalBracketAccess',
  '?:': 'ternary', '!_': 'unaryNot', '-_': 'unaryMinus',
}
const plain = 'value id call rcall list map comprehension accuValue accuInc accuPush || && != == in + - * / % < <= > >='
export const OPERATORS = Object.fromEntries(
  [...plain.split(' ').map((name) => [name, name]), ...Object.entries(aliases)].flatMap(([name, alias]) => {
    const operator = { name }
    return [[name, operator], [alias, operator]]
  }),
)
`

/** Character names of Markdown from a table. The browser variant decodes them with `innerHTML`, which our policy forbids. */
function namesFromTable(file: string): Promise<string> {
  return readFile(file.replace(/\.dom\.js$/, '.js'), 'utf8')
}

const replaced: [file: RegExp, by: (file: string) => string | Promise<string>][] = [
  [/\/zod\/v4\/core\/(to-json-schema|json-schema-processors)\.js$/, withoutDescriptions],
  [/\/zod\/v4\/core\/memoizer\.js$/, () => noCycles],
  [/\/zod\/v4\/classic\/schemas\.js$/, withoutFormats],
  [/\/d3-transition\/dist\/d3-transition\.mjs$/, noTransitions],
  [/\/d3-interpolate\/src\/index\.js$/, viewsAndNumbers],
  [/\/decode-named-character-reference\/index\.dom\.js$/, namesFromTable],
  [/\/cel-js\/lib\/evaluator\.js$/, () => parserAlone],
  [/\/cel-js\/lib\/operators\.js$/, () => operatorNames],
  [/\/cel-js\/lib\/(registry|optional)\.js$/, (file) => readFile(file, 'utf8')], // marked side-effect free below
]

/**
 * Rolldown and Vite plugin that removes code the page never calls but a bundler cannot detect as unused: all of CEL
 * except the parser, which is also the only part that @gateway/flow uses in the service; JSON Schema descriptions of
 * zod; animations of d3. The remaining code finds the same problems (scenarios/flow-editor.scenario.ts).
 * page-sizes.test.ts fails if a package moves its files.
 */
export const leftOut = {
  name: 'left-out',
  async load(id: string) {
    const [, by] = replaced.find(([file]) => file.test(id)) ?? []
    return by ? { code: await by(id), moduleSideEffects: by === noTransitions } : null
  },
}

import { readFile } from 'node:fs/promises'

/** Every shape brings how it would be described in JSON Schema, which the page never asks of one. */
async function withoutDescriptions(file: string): Promise<string> {
  const text = await readFile(file, 'utf8')
  const names = [...text.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name!)
  const others = [...text.matchAll(/^export \{ \w+ as (\w+) \};$/gm)].map(([, name]) => name!)
  const lines = [...names, ...others].map((name) => `gone as ${name}`)
  return `const gone = () => { throw new Error('The page has nothing to describe shapes with.') }\nexport { ${lines.join(', ')} }`
}

/** A shape of a text can ask for one of 26 formats, such as an address of a network; no shape on the page does. */
async function withoutFormats(file: string): Promise<string> {
  const text = await readFile(file, 'utf8')
  return text.replaceAll(
    /return this\.check\(core\._\w+\(Zod\w+, params\)\);/g,
    "throw new Error('The page knows no formats of texts.');",
  )
}

/** What comes from JSON leads never back to itself, so nothing has to be remembered of where a check has been. */
const noCycles = `
export class $ZodCyclicError extends Error {}
export const memoizer = () => undefined
export const isRecursiveSchema = () => false
export const isBackEdge = () => false
`

/** The canvas is where it is asked to be at once: nothing on it moves by itself. */
const noTransitions = () => `
import { selection } from 'd3-selection'
const same = function () { return this }
const arrive = function (_, make) { return this.each(function (...args) { make.apply(this, args)(1) }) }
Object.assign(selection.prototype, { interrupt: same, transition: same, duration: same, ease: same, tween: arrive })
export const interrupt = () => {}
`

/** Between two views of a canvas alone, and not between colors, dates, lists and texts with numbers in them. */
const viewsAlone = () => "export { default as interpolate, default as interpolateZoom } from './zoom.js'"

/** The parser of expressions with the checks of its macros, and without what would type and evaluate them. */
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

/** The names of what is in a parsed expression, without what it would do. */
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

const replaced: [file: RegExp, by: (file: string) => string | Promise<string>][] = [
  [/\/zod\/v4\/core\/(to-json-schema|json-schema-processors)\.js$/, withoutDescriptions],
  [/\/zod\/v4\/core\/memoizer\.js$/, () => noCycles],
  [/\/zod\/v4\/classic\/schemas\.js$/, withoutFormats],
  [/\/d3-transition\/dist\/d3-transition\.mjs$/, noTransitions],
  [/\/d3-interpolate\/src\/index\.js$/, viewsAlone],
  [/\/cel-js\/lib\/evaluator\.js$/, () => parserAlone],
  [/\/cel-js\/lib\/operators\.js$/, () => operatorNames],
  [/\/cel-js\/lib\/(registry|optional)\.js$/, (file) => readFile(file, 'utf8')], // dropped with what they do when they are loaded
]

/**
 * Leaves out of a program for browsers what it never calls, where a bundler cannot tell: of the language of expressions all but the
 * parser, which is what @gateway/flow uses in the service too; of zod what describes shapes; of d3 what moves by itself. What is left
 * finds the same problems (scenarios/flow-editor.scenario.ts), and page-sizes.test.ts fails where a package has moved its files.
 * For rolldown, and so for Vite.
 */
export const leftOut = {
  name: 'left-out',
  async load(id: string) {
    const [, by] = replaced.find(([file]) => file.test(id)) ?? []
    return by ? { code: await by(id), moduleSideEffects: by === noTransitions } : null
  },
}

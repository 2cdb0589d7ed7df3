import { builtinModules } from 'node:module'
import { isGlobal, isGlobalUse } from './global-names.js'
import { placeOf, runsInBrowsers } from './rooms.js'

const globalsOfNode = new Set([
  'Buffer',
  'process',
  'global',
  'require',
  'setImmediate',
  'clearImmediate',
  '__dirname',
  '__filename',
])

/** The files of these packages that may know Node, and why. */
const exceptions = new Map([
  ['flow/src/package.ts', 'digests are made by services alone; a browser compares the texts that they are of'],
  ['typescript/src/settings.ts', 'reads the environment where there is one'],
  ['api/src/text-bytes.ts', 'counts in Node as fast as Node does, and the same in a browser'],
])

/** What the console's page imports too is made of the language and of what browsers have. */
export const browserSafe = {
  meta: { type: 'problem' },
  create(context) {
    const place = placeOf(context.filename, context.cwd)
    if (!place || !runsInBrowsers(place) || place.isTest || exceptions.has(`${place.room}/${place.inside}`)) return {}

    const report = (node, what) =>
      context.report({ node, message: `Browsers import ${place.room} too, and a browser has no ${what}.` })
    const check = ({ source }) => {
      const name = source?.value
      if (typeof name === 'string' && (name.startsWith('node:') || builtinModules.includes(name))) report(source, name)
    }

    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      MemberExpression(node) {
        const name = node.property.name ?? node.property.value
        const object = unwrapped(node.object)
        if (object.name === 'globalThis' && isGlobal(context, object) && globalsOfNode.has(name)) report(node, name)
      },
      Identifier(node) {
        if (globalsOfNode.has(node.name) && isGlobalUse(context, node)) report(node, node.name)
      },
    }
  },
}

/** Without what is said to the compiler alone: `(globalThis as {…})`, `globalThis!`. */
function unwrapped(node) {
  return /^(TS(As|NonNull|Satisfies)|Parenthesized)Expression$/.test(node.type) ? unwrapped(node.expression) : node
}

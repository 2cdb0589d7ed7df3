import { isPure, placeOf } from './rooms.js'

const reachesOutside = new Set([
  'process',
  'performance',
  'crypto',
  'fetch',
  'console',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
])

/** No clock, no randomness and nothing outside in the pure places. */
export const purePlaces = {
  meta: { type: 'problem' },
  create(context) {
    const place = placeOf(context.filename, context.cwd)
    if (!place || !isPure(place) || place.isTest) return {}

    const report = (node, what) =>
      context.report({
        node,
        message: `${place.room} is pure, so it may not use ${what}: take the value as an argument.`,
      })
    const isGlobal = (node) => {
      for (let scope = context.sourceCode.getScope(node); scope; scope = scope.upper) {
        const variable = scope.set.get(node.name)
        if (variable) return variable.defs.length === 0
      }
      return true
    }

    return {
      NewExpression(node) {
        if (node.callee.name === 'Date' && node.arguments.length === 0 && isGlobal(node.callee))
          report(node, 'the clock')
      },
      MemberExpression(node) {
        const name = `${node.object.name}.${node.property.name}`
        if ((name === 'Date.now' || name === 'Math.random') && isGlobal(node.object)) report(node, name)
      },
      Identifier(node) {
        if (reachesOutside.has(node.name) && isReference(node) && isGlobal(node)) report(node, node.name)
      },
    }
  },
}

/** Not a property's name, as in `{ process: 1 }` or `log.process`, nor a name in a type. */
function isReference(node) {
  const { parent } = node
  if (parent.type === 'MemberExpression') return parent.object === node || parent.computed
  if (parent.type === 'Property' || parent.type === 'PropertyDefinition' || parent.type === 'MethodDefinition') {
    return parent.value === node && parent.key !== node
  }
  return !parent.type.startsWith('TS') && !/Import|Export/.test(parent.type)
}

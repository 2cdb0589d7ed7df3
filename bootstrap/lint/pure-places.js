import { isGlobal, isGlobalUse } from './global-names.js'
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

    return {
      NewExpression(node) {
        if (node.callee.name === 'Date' && node.arguments.length === 0 && isGlobal(context, node.callee))
          report(node, 'the clock')
      },
      MemberExpression(node) {
        const name = `${node.object.name}.${node.property.name}`
        if ((name === 'Date.now' || name === 'Math.random') && isGlobal(context, node.object)) report(node, name)
      },
      Identifier(node) {
        if (reachesOutside.has(node.name) && isGlobalUse(context, node)) report(node, node.name)
      },
    }
  },
}

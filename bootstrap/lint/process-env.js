import { placeOf } from './rooms.js'

/** Files that are programs, or that execution them. */
const programs = /(^|\/)(main|command|[\w-]+-command|run-service|global-setup)\.ts$/

/** The environment is read where a program begins, and handed on as configuration. */
export const processEnv = {
  meta: { type: 'problem' },
  create(context) {
    const place = placeOf(context.filename, context.cwd)
    const free =
      !place ||
      place.isTest ||
      ['local-stack', 'testbed', 'bench', 'scenarios'].includes(place.room) ||
      programs.test(place.inside)
    if (free) return {}
    return {
      MemberExpression(node) {
        if (node.object.name !== 'process' || (node.property.name ?? node.property.value) !== 'env') return
        context.report({
          node,
          message: 'process.env is read in a main.ts only, through a schema that says what each variable is for.',
        })
      },
    }
  },
}

import { builtinModules } from 'node:module'
import path from 'node:path'
import { objection } from './directions.js'
import { isPure, placeOf } from './rooms.js'

/** Computing is pure wherever it is written; everything else of Node reaches outside. */
const pureBuiltins = new Map([
  ['node:crypto', ['createHash', 'hash']],
  ['node:buffer', ['Buffer']],
])

/** Holds the table of directions, for static and dynamic imports and for re-exports. */
export const importDirection = {
  meta: { type: 'problem' },
  create(context) {
    const place = placeOf(context.filename, context.cwd)
    if (!place) return {}

    function check(source, imported) {
      if (source?.type !== 'Literal' || typeof source.value !== 'string') return
      const message = source.value.startsWith('.')
        ? relativeObjection(context, place, source.value)
        : (objection(place, source.value) ?? impureObjection(place, source.value, imported))
      if (message) context.report({ node: source, message })
    }
    const namesOf = (node) => node.specifiers?.map((specifier) => specifier.imported?.name ?? '*')

    return {
      ImportDeclaration: (node) => check(node.source, namesOf(node)),
      ExportNamedDeclaration: (node) => check(node.source),
      ExportAllDeclaration: (node) => check(node.source),
      ImportExpression: (node) => check(node.source),
    }
  },
}

function relativeObjection(context, place, name) {
  const target = placeOf(path.resolve(path.dirname(context.filename), name), context.cwd)
  if (!target || (target.floor === place.floor && target.room === place.room)) return null
  return `Another room is entered by its door: import what ${target.room}'s package.json exports.`
}

function impureObjection(place, name, imported) {
  if (!isPure(place) || place.isTest) return null
  if (!name.startsWith('node:') && !builtinModules.includes(name)) return null
  const allowed = pureBuiltins.get(name)
  if (allowed && imported?.every((each) => allowed.includes(each))) return null
  return `${place.room} is pure: no I/O, no clock, no randomness. Take what it needs as an argument.`
}

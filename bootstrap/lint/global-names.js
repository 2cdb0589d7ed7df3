/** Whether a name is used as a value here and means the global one. */
export function isGlobalUse(context, node) {
  return isReference(node) && isGlobal(context, node)
}

/** No declaration around it has the name. */
export function isGlobal(context, node) {
  for (let scope = context.sourceCode.getScope(node); scope; scope = scope.upper) {
    const variable = scope.set.get(node.name)
    if (variable) return variable.defs.length === 0
  }
  return true
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

const mostStatements = 1_000

/**
 * Names for prepared statements: the same text has the same name. A statement stays prepared in every session that
 * ran it, so beyond a thousand texts (generated queries of ever new shapes) no more are named, and those are
 * planned at each use.
 */
export function statementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>()
  return ({ sql }) => {
    const known = names.get(sql)
    if (known !== undefined) return known
    if (names.size >= mostStatements) return ''
    const name = `svc${names.size + 1}`
    names.set(sql, name)
    return name
  }
}

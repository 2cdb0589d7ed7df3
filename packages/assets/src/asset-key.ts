const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/**
 * `<project>/<asset id>`. Without dots and slashes in either there is no way out of the project's place.
 * @throws RangeError for what is no id
 */
export function keyOf(project: string, asset: string): string {
  if (!ID.test(project) || !ID.test(asset))
    throw new RangeError('an asset is named by the ids of its project and its own')
  return `${project}/${asset}`
}

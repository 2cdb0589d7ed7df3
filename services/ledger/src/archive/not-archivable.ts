/** Why a month cannot be archived, as sentences for an operator. */
export class NotArchivable extends Error {
  override readonly name = 'NotArchivable'
}

/** Why a month stays where it is, as sentences for an operator. */
export class NotArchivable extends Error {
  override readonly name = 'NotArchivable'
}

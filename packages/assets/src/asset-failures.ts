/** The bytes are not such as are kept. The caller can clear it. */
export abstract class NotKept extends Error {}

/** There are more bytes than were to be taken. */
export class AssetTooLarge extends NotKept {
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`)
    this.maxBytes = maxBytes
  }
}

/** The bytes are no PNG, JPEG, WebP, WAV or MPEG audio. */
export class AssetTypeUnknown extends NotKept {
  constructor() {
    super('the bytes are of no kind that is kept')
  }
}

/** There is nothing under these ids. */
export class AssetMissing extends Error {
  constructor(options?: ErrorOptions) {
    super('there is no such asset', options)
  }
}

/** The store can not be read or written now. */
export class AssetStoreUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('the asset store is unavailable', options)
  }
}

const errors: Record<string, string> = {
  timeout: 'no response within 8 seconds',
  unreachable: 'host unreachable',
  unknown_host: 'host not found',
  private: 'not a public address',
  not_https: 'not an https:// URL',
  key_missing: 'encryption key of the signing secret is missing',
  not_mailed: 'the mail server did not accept the mail',
  no_recipient: 'no recipient has access to the project',
}

/** Why a delivery was not taken, as part of a sentence. */
export function deliveryReason(of: { status?: number | null | undefined; error?: string | null | undefined }): string {
  return of.error ? (errors[of.error] ?? of.error) : `HTTP ${of.status}`
}

import { isImageData } from '@gateway/api/attachments'

/** Image file as a `data:` URL for a chat message, or null if its type isn't supported. */
export async function readImage(file: File): Promise<string | null> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(reader.result as string))
    reader.addEventListener('error', () => reject(reader.error!))
    reader.readAsDataURL(file)
  })
  return isImageData(url) ? url : null
}

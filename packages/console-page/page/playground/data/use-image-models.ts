import { useQuery } from '@tanstack/react-query'
import { askingWith } from './ask-gateway.ts'

/** Models with image input among those the key can call. */
export function useImageModels(secret: string | null): ReadonlySet<string> {
  const { data } = useQuery({
    queryKey: ['/v1/models', secret],
    queryFn: () => askingWith(secret!).ask('GET', '/v1/models'),
    enabled: secret !== null,
  })
  return new Set(data?.data.filter(({ image_input: images }) => images !== undefined).map(({ id }) => id))
}

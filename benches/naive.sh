#!/usr/bin/env bash
# What an administrator would write instead: each PDF that comes into a folder is posted, and what became of
# it stands in a database. `naive.sh DIR COUNT BASE_URL AUTH_URL CLIENT SECRET DATABASE` ends after COUNT.
# It knows no crash, no second try, no duplicate and no half-copied file.
set -euo pipefail
dir=$1 count=$2 base=$3 auth=$4 client=$5 secret=$6 db=$7

sqlite3 "$db" 'CREATE TABLE letter (file TEXT PRIMARY KEY, mail TEXT, state TEXT)' >/dev/null
token=$(curl -sSf -u "$client:$secret" -d grant_type=client_credentials -d 'scope=mails:read mails:write' "$auth/token" | jq -r .access_token)
api() { curl -sSf -H "Authorization: Bearer $token" "$@"; }

mkdir -p "$dir/sent"
while read -r name; do
  file="$dir/$name"
  pages=$(qpdf --show-npages "$file")
  order=$(jq -n --arg name "$name" --argjson pages "$pages" '{
    shipping_method: "letterpack-lite",
    sender_address: {postal_code: "1000001", state: "東京都", city: "千代田区", address1: "千代田1-1", name: "株式会社サンプル"},
    receiver_address: {postal_code: "0600001", state: "北海道", city: "札幌市中央区", address1: "北一条西1-1", name: "山田 太郎", honorific: "様"},
    files: [{file_name: $name, page_count: $pages, color: "grayscale", duplex: "double"}]}')
  mail=$(api -H 'Content-Type: application/json' -d "$order" "$base/v1/mails")
  id=$(jq -r .id <<<"$mail")
  sqlite3 "$db" "INSERT INTO letter VALUES ('$name', '$id', 'created')"
  mapfile -t fields < <(jq -r '.contents[0].upload.fields | to_entries[] | "-F\n\(.key)=\(.value)"' <<<"$mail")
  curl -sSf "${fields[@]}" -F "file=@$file" "$(jq -r '.contents[0].upload.url' <<<"$mail")" >/dev/null
  api -X POST "$base/v1/mails/$id/confirm" >/dev/null
  sqlite3 "$db" "UPDATE letter SET state = 'confirmed' WHERE file = '$name'"
  mv "$file" "$dir/sent/"
  count=$((count - 1))
  [ "$count" -gt 0 ] || break
done < <(inotifywait -q -m -e close_write -e moved_to --format %f "$dir")

# The profile scrapy/1 and canon --fingerprint beside w3lib 2.5, and beside Scrapy where that is installed,
# too. UNSEEN_SCRAPY_PYTHON is the Python that has them.
# Label: once
. "$(dirname "$0")/lib/common.bash"

python=${UNSEEN_SCRAPY_PYTHON:-python3}
version=$("$python" -c 'import importlib.metadata as m; print(m.version("w3lib"))' 2> /dev/null)
case $version in
2.5.*) ;;
*)
    skip "$python has no w3lib 2.5"
    finish
    ;;
esac

data=${UNSEEN_TEST_DATA:-$TESTS/../../shared/data}
"$PRINT_URLS" urls 5000 1 > made || exit 2
files=(made)
for name in links requests; do
    if [ -f "$data/urls_$name.txt.gz" ]; then
        gzip -dc "$data/urls_$name.txt.gz" > $name
        files+=("$name")
    fi
done
holds "$python" "$TESTS/cli/scrapy_peer.py" "$UNSEEN" "$TESTS" "${files[@]}"
finish

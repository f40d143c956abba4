module example.com/cache-guard

go 1.19

require (
	example.com/unseen v0.0.0
	github.com/lib/pq v1.10.7
)

replace example.com/unseen => ../go
